exec "$PYTHON/python" xtask/warehouse/check.py
