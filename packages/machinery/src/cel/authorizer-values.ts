/** ResourceAccessAttributes describes an access to objects; unspecified parts are empty. */
export interface ResourceAccessAttributes {
  readonly isResource: true;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** PathAccessAttributes describes an access to a non-resource path. */
export interface PathAccessAttributes {
  readonly isResource: false;
  readonly verb: string;
  readonly path: string;
}

/** AccessAttributes describes an access that an expression checks with an authorizer. */
export type AccessAttributes = ResourceAccessAttributes | PathAccessAttributes;

/** AccessDecision is the decision of an authorizer. */
export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** Account names a ServiceAccount. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** ExpressionAuthorizer is the value of a variable of the type `authorizer`. */
export interface ExpressionAuthorizer {
  /**
   * authorize decides for the user that sent the request, or for a ServiceAccount. It is synchronous, because
   * expressions cannot wait.
   */
  authorize(attributes: AccessAttributes, account?: Account): AccessDecision;
  /** The resource of the request: `authorizer.requestResource`. */
  readonly requestResource: Omit<ResourceAccessAttributes, 'isResource' | 'verb'>;
}

/** AuthorizerValue checks the permissions of a user or ServiceAccount. */
export class AuthorizerValue {
  readonly type = 'authorizer';
  readonly authorizer: ExpressionAuthorizer;
  readonly account: Account | undefined;

  constructor(authorizer: ExpressionAuthorizer, account?: Account) {
    this.authorizer = authorizer;
    this.account = account;
  }

  decide(attributes: AccessAttributes): DecisionValue {
    return new DecisionValue(this.authorizer.authorize(attributes, this.account));
  }

  isSame(other: AuthorizerValue): boolean {
    return this === other;
  }
}

/** PathCheckValue is an access check of a path, without the verb. */
export class PathCheckValue {
  readonly type = 'pathCheck';
  readonly authorizerValue: AuthorizerValue;
  readonly path: string;

  constructor(authorizerValue: AuthorizerValue, path: string) {
    this.authorizerValue = authorizerValue;
    this.path = path;
  }

  isSame(other: PathCheckValue): boolean {
    return this === other;
  }
}

/** GroupCheckValue is an access check of a resource of which only the group is known. */
export class GroupCheckValue {
  readonly type = 'groupCheck';
  readonly authorizerValue: AuthorizerValue;
  readonly group: string;

  constructor(authorizerValue: AuthorizerValue, group: string) {
    this.authorizerValue = authorizerValue;
    this.group = group;
  }

  isSame(other: GroupCheckValue): boolean {
    return this === other;
  }
}

/** ResourceCheckValue is an access check of a resource, without the verb. */
export class ResourceCheckValue {
  readonly type = 'resourceCheck';
  readonly authorizerValue: AuthorizerValue;
  readonly resourceAttributes: ExpressionAuthorizer['requestResource'];

  constructor(authorizerValue: AuthorizerValue, resourceAttributes: ExpressionAuthorizer['requestResource']) {
    this.authorizerValue = authorizerValue;
    this.resourceAttributes = resourceAttributes;
  }

  /** with returns the same check with another part set. */
  with(part: Partial<ExpressionAuthorizer['requestResource']>): ResourceCheckValue {
    return new ResourceCheckValue(this.authorizerValue, { ...this.resourceAttributes, ...part });
  }

  isSame(other: ResourceCheckValue): boolean {
    return this === other;
  }
}

/** DecisionValue is the decision of an authorizer. */
export class DecisionValue {
  readonly type = 'decision';
  readonly decision: AccessDecision;

  constructor(decision: AccessDecision) {
    this.decision = decision;
  }

  isSame(other: DecisionValue): boolean {
    return this === other;
  }
}
