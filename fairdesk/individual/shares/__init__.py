"""How common discriminatory instances are: random samples, intervals, enumeration."""
