"""Who is near a row, and what the model says around it."""
