// Generated from openapi/apiregistration-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const text = `{"kinds":["APIService","APIServiceList"],"definitions":{
"APIService":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"spec":{"ref":"apiregistration-v1.APIServiceSpec"},"status":{"ref":"apiregistration-v1.APIServiceStatus"}}},
"APIServiceCondition":{"type":"object","properties":{"lastTransitionTime":{"type":"string","format":"date-time"},"message":{"type":"string"},"reason":{"type":"string"},"status":{"type":"string","default":""},"type":{"type":"string","default":""}},"required":["type","status"]},
"APIServiceList":{"type":"object","properties":{"apiVersion":{"type":"string"},"items":{"type":"array","items":{"ref":"apiregistration-v1.APIService"}},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ListMeta"}},"required":["items"]},
"APIServiceSpec":{"type":"object","properties":{"caBundle":{"type":"string","format":"byte","listType":"atomic"},"group":{"type":"string"},"groupPriorityMinimum":{"type":"integer","format":"int32","default":0},"insecureSkipTLSVerify":{"type":"boolean"},"service":{"ref":"apiregistration-v1.ServiceReference"},"version":{"type":"string"},"versionPriority":{"type":"integer","format":"int32","default":0}},"required":["groupPriorityMinimum","versionPriority"]},
"APIServiceStatus":{"type":"object","properties":{"conditions":{"type":"array","items":{"ref":"apiregistration-v1.APIServiceCondition"},"listType":"map","listMapKeys":["type"],"patchMergeKey":"type","patchStrategy":["merge"]}}},
"ServiceReference":{"type":"object","properties":{"name":{"type":"string"},"namespace":{"type":"string"},"port":{"type":"integer","format":"int32"}}}
}}`;
