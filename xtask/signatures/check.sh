exec "$PYTHON/python" xtask/signatures/check.py
