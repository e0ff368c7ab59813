"""What the shipped relation model is trained and measured on, and how: see scripts/training/train.py."""
