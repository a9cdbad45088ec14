import sys
from urllib.parse import urlsplit

import trino

url = urlsplit(sys.argv[1])
connection = trino.dbapi.connect(host=url.hostname, port=url.port, user="any", http_scheme="http", request_timeout=4)
cursor = connection.cursor()
cursor.execute("SELECT 1")
print(cursor.fetchall())
