"""Evidence: from pages to passages to the passages of each claim. The second stage."""
