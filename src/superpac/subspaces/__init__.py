"""Linear subspaces: bases, residuals, margins, angles, and the same for changing labels."""
