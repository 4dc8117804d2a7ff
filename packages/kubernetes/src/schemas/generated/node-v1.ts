// Generated from openapi/node-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const text = `{"kinds":["RuntimeClass","RuntimeClassList"],"definitions":{
"Overhead":{"type":"object","properties":{"podFixed":{"type":"object","additionalProperties":{"format":"quantity"}}}},
"RuntimeClass":{"type":"object","properties":{"apiVersion":{"type":"string"},"handler":{"type":"string","default":""},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"overhead":{"ref":"node-v1.Overhead"},"scheduling":{"ref":"node-v1.Scheduling"}},"required":["handler"]},
"RuntimeClassList":{"type":"object","properties":{"apiVersion":{"type":"string"},"items":{"type":"array","items":{"ref":"node-v1.RuntimeClass"}},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ListMeta"}},"required":["items"]},
"Scheduling":{"type":"object","properties":{"nodeSelector":{"type":"object","additionalProperties":{"type":"string","default":""},"mapType":"atomic"},"tolerations":{"type":"array","items":{"ref":"core-v1.Toleration"},"listType":"atomic"}}}
}}`;
