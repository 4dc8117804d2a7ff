// Generated from openapi/scheduling-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const text = `{"kinds":["PriorityClass","PriorityClassList"],"definitions":{
"PriorityClass":{"type":"object","properties":{"apiVersion":{"type":"string"},"description":{"type":"string"},"globalDefault":{"type":"boolean"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"preemptionPolicy":{"type":"string","enum":["Never","PreemptLowerPriority"]},"value":{"type":"integer","format":"int32","default":0}},"required":["value"]},
"PriorityClassList":{"type":"object","properties":{"apiVersion":{"type":"string"},"items":{"type":"array","items":{"ref":"scheduling-v1.PriorityClass"}},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ListMeta"}},"required":["items"]}
}}`;
