"""What a trained model knows about position: its checkpoint read without torch, its encoding, its layers."""
