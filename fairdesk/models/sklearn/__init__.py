"""scikit-learn models from pickle, joblib and skops files, and their structure."""
