"""Reading table files: CSV, Parquet, Excel, SQLite; every format ends in the same cells."""
