"""ONNX files: vetted and read as data, computed by ONNX Runtime, and written."""
