"""From tables to answers: who reads which column, how readings are combined, what is answered."""
