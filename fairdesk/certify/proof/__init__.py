"""The certificate file, and its check by other means than it was made with."""
