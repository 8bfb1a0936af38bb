exec "$PYTHON/python" xtask/scim/check.py
