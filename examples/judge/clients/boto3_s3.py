"""boto3, S3: reads one object. The endpoint is in AWS_ENDPOINT_URL_S3."""

import boto3

client = boto3.client("s3", region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret")
print(client.get_object(Bucket="bucket", Key="key")["Body"].read())
