"""Web search: providers behind one protocol, asked one after the other until one answers."""
