import type { UserInfo } from '../authentication/user-info.ts';

/**
 * ResourceAttributes describes an action on objects. Any text is a verb: some verbs, such as `impersonate`, have no
 * request.
 */
export interface ResourceAttributes {
  readonly isResource: true;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
}

/** PathAttributes describes an action on a path that is not a resource. */
export interface PathAttributes {
  readonly isResource: false;
  readonly verb: string;
  readonly path: string;
}

/** Attributes describes an action to authorize. Every `RequestInfo` satisfies it. */
export type Attributes = ResourceAttributes | PathAttributes;

/** Decision is the result of an authorization check. */
export interface Decision {
  readonly allowed: boolean;
  /**
   * The reason that access reviews report: the rule that allows the action, or the roles that are missing. Often empty.
   */
  readonly reason: string;
}

/** Authorizer decides synchronously what a user may do: CEL expressions that call it cannot wait. */
export interface Authorizer {
  authorize(user: UserInfo, attributes: Attributes): Decision;
}
