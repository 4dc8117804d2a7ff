// Generated from openapi/discovery-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const text = `{"kinds":["EndpointSlice","EndpointSliceList"],"definitions":{
"Endpoint":{"type":"object","properties":{"addresses":{"type":"array","items":{"type":"string","default":""},"listType":"set"},"conditions":{"ref":"discovery-v1.EndpointConditions"},"deprecatedTopology":{"type":"object","additionalProperties":{"type":"string","default":""}},"hints":{"ref":"discovery-v1.EndpointHints"},"hostname":{"type":"string"},"nodeName":{"type":"string"},"targetRef":{"ref":"core-v1.ObjectReference"},"zone":{"type":"string"}},"required":["addresses"]},
"EndpointConditions":{"type":"object","properties":{"ready":{"type":"boolean"},"serving":{"type":"boolean"},"terminating":{"type":"boolean"}}},
"EndpointHints":{"type":"object","properties":{"forNodes":{"type":"array","items":{"ref":"discovery-v1.ForNode"},"listType":"atomic"},"forZones":{"type":"array","items":{"ref":"discovery-v1.ForZone"},"listType":"atomic"}}},
"EndpointPort":{"type":"object","properties":{"appProtocol":{"type":"string"},"name":{"type":"string"},"port":{"type":"integer","format":"int32"},"protocol":{"type":"string","enum":["SCTP","TCP","UDP"]}},"mapType":"atomic"},
"EndpointSlice":{"type":"object","properties":{"addressType":{"type":"string","enum":["FQDN","IPv4","IPv6"],"default":""},"apiVersion":{"type":"string"},"endpoints":{"type":"array","items":{"ref":"discovery-v1.Endpoint"},"listType":"atomic"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"ports":{"type":"array","items":{"ref":"discovery-v1.EndpointPort"},"listType":"atomic"}},"required":["addressType","endpoints"]},
"EndpointSliceList":{"type":"object","properties":{"apiVersion":{"type":"string"},"items":{"type":"array","items":{"ref":"discovery-v1.EndpointSlice"}},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ListMeta"}},"required":["items"]},
"ForNode":{"type":"object","properties":{"name":{"type":"string","default":""}},"required":["name"]},
"ForZone":{"type":"object","properties":{"name":{"type":"string","default":""}},"required":["name"]}
}}`;
