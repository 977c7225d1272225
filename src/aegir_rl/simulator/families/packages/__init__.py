"""Small data packages that repository tasks break and ask to repair; they run here for expected values and as text in the sandbox."""
