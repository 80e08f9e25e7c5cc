"""What leaves the app: sentences, charts, the PDF and the exports."""
