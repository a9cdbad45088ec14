"""boto3, DynamoDB: reads one item. The endpoint is in AWS_ENDPOINT_URL_DYNAMODB."""

import boto3

client = boto3.client(
    "dynamodb", region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
)
print(client.get_item(TableName="table", Key={"id": {"S": "1"}}).get("Item"))
