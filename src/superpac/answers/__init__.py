"""What people said: answers, the log that keeps them, and what follows from them."""
