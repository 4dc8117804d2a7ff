import type { UserInfo } from '../authentication/user-info.ts';

/** ResourceAttributes is something done to objects. Verbs are any text: some, such as `impersonate`, are no request. */
export interface ResourceAttributes {
  readonly isResource: true;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-wide kinds and for all namespaces. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
}

/** PathAttributes is something done to a path that is no resource. */
export interface PathAttributes {
  readonly isResource: false;
  readonly verb: string;
  readonly path: string;
}

/** Attributes are what a question of rights is about. Every `RequestInfo` is one. */
export type Attributes = ResourceAttributes | PathAttributes;

/** Decision is an answer to: may they? */
export interface Decision {
  readonly allowed: boolean;
  /** What access reviews tell: which rule allows it, or which roles could not be found. Often empty. */
  readonly reason: string;
}

/** Authorizer decides what somebody may do, at once: expressions that ask it cannot wait. */
export interface Authorizer {
  authorize(user: UserInfo, attributes: Attributes): Decision;
}
