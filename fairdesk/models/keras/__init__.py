"""Keras files, `.keras`, `.h5` and SavedModel: dense networks as data, others by TensorFlow."""
