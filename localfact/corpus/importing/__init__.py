"""What others collected, as pages."""
