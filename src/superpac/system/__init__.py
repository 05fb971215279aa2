"""What the machine gives and what reaches it: files, memory, threads, libraries, text shown."""
