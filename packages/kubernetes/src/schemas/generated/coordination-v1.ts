// Generated from openapi/coordination-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const text = `{"kinds":["Lease","LeaseList"],"definitions":{
"Lease":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"spec":{"ref":"coordination-v1.LeaseSpec"}}},
"LeaseList":{"type":"object","properties":{"apiVersion":{"type":"string"},"items":{"type":"array","items":{"ref":"coordination-v1.Lease"}},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ListMeta"}},"required":["items"]},
"LeaseSpec":{"type":"object","properties":{"acquireTime":{"type":"string","format":"date-time"},"holderIdentity":{"type":"string"},"leaseDurationSeconds":{"type":"integer","format":"int32"},"leaseTransitions":{"type":"integer","format":"int32"},"preferredHolder":{"type":"string"},"renewTime":{"type":"string","format":"date-time"},"strategy":{"type":"string"}}}
}}`;
