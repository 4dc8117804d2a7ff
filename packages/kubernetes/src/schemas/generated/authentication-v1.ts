// Generated from openapi/authentication-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
export const text = `{"kinds":["SelfSubjectReview","TokenRequest","TokenReview"],"definitions":{
"BoundObjectReference":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"name":{"type":"string"},"uid":{"type":"string"}}},
"SelfSubjectReview":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"status":{"ref":"authentication-v1.SelfSubjectReviewStatus"}}},
"SelfSubjectReviewStatus":{"type":"object","properties":{"userInfo":{"ref":"authentication-v1.UserInfo"}}},
"TokenRequest":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"spec":{"ref":"authentication-v1.TokenRequestSpec"},"status":{"ref":"authentication-v1.TokenRequestStatus"}},"required":["spec"]},
"TokenRequestSpec":{"type":"object","properties":{"audiences":{"type":"array","items":{"type":"string","default":""},"listType":"atomic"},"boundObjectRef":{"ref":"authentication-v1.BoundObjectReference"},"expirationSeconds":{"type":"integer","format":"int64"}},"required":["audiences"]},
"TokenRequestStatus":{"type":"object","properties":{"expirationTimestamp":{"type":"string","format":"date-time"},"token":{"type":"string","default":""}},"required":["token","expirationTimestamp"]},
"TokenReview":{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"ref":"meta-v1.ObjectMeta"},"spec":{"ref":"authentication-v1.TokenReviewSpec"},"status":{"ref":"authentication-v1.TokenReviewStatus"}},"required":["spec"]},
"TokenReviewSpec":{"type":"object","properties":{"audiences":{"type":"array","items":{"type":"string","default":""},"listType":"atomic"},"token":{"type":"string"}}},
"TokenReviewStatus":{"type":"object","properties":{"audiences":{"type":"array","items":{"type":"string","default":""},"listType":"atomic"},"authenticated":{"type":"boolean"},"error":{"type":"string"},"user":{"ref":"authentication-v1.UserInfo"}}},
"UserInfo":{"type":"object","properties":{"extra":{"type":"object","additionalProperties":{"type":"array","items":{"type":"string","default":""}}},"groups":{"type":"array","items":{"type":"string","default":""},"listType":"atomic"},"uid":{"type":"string"},"username":{"type":"string"}}}
}}`;
