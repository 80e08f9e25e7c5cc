"""What a report is made from: material, fields, choices, redaction, status."""
