"""Published weights as ONNX, without the library that they were trained with."""
