"""From chats to token ids and back: templates, trees of labels, the place of every token in the text."""
