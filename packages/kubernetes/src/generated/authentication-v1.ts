// Generated from openapi/authentication-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ObjectMeta } from './meta-v1.ts';

export interface BoundObjectReference {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

export interface SelfSubjectReview {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly status?: SelfSubjectReviewStatus | undefined;
}

export const SelfSubjectReview: Resource<SelfSubjectReview, 'SelfSubjectReview.v1.authentication.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'authentication.k8s.io', version: 'v1', kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', scope: 'Cluster' });

export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo | undefined;
}

export interface TokenRequest {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: TokenRequestSpec;
  readonly status?: TokenRequestStatus | undefined;
}

export interface TokenRequestSpec {
  readonly audiences: readonly string[];
  readonly boundObjectRef?: BoundObjectReference | undefined;
  readonly expirationSeconds?: number | undefined;
}

export interface TokenRequestStatus {
  readonly expirationTimestamp: string;
  readonly token: string;
}

export interface TokenReview {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus | undefined;
}

export const TokenReview: Resource<TokenReview, 'TokenReview.v1.authentication.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview', plural: 'tokenreviews', scope: 'Cluster' });

export interface TokenReviewSpec {
  readonly audiences?: readonly string[] | undefined;
  readonly token?: string | undefined;
}

export interface TokenReviewStatus {
  readonly audiences?: readonly string[] | undefined;
  readonly authenticated?: boolean | undefined;
  readonly error?: string | undefined;
  readonly user?: UserInfo | undefined;
}

export interface UserInfo {
  readonly extra?: { readonly [key: string]: readonly string[] } | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  readonly username?: string | undefined;
}
