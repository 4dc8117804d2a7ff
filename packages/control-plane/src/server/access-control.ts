import { type Clock, type Random, systemRandom } from '@bowline/machinery';
import type { AdmissionPlugin } from './admission/admission.ts';
import { refuseEscalation } from './admission/escalation.ts';
import { createAuthenticator, type TokenAuthenticator } from './authentication/create-authenticator.ts';
import { jwtKey } from './authentication/jwt.ts';
import { openIdRoute } from './authentication/openid.ts';
import { ServiceAccountTokens } from './authentication/service-account-tokens.ts';
import type { StaticToken } from './authentication/static-tokens.ts';
import { aggregateClusterRoles } from './authorization/aggregation.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { ensureBootstrapPolicy } from './authorization/bootstrap-policy.ts';
import { RbacAuthorizer } from './authorization/rbac-authorizer.ts';
import { RBAC_GROUP, RbacIndex } from './authorization/rbac-index.ts';
import type { FieldTracking } from './fields/field-tracking.ts';
import type { Route } from './http/api-request.ts';
import type { Registry } from './registry/registry.ts';
import type { Storage } from './storage/storage.ts';
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from './virtual-kinds/access-reviews.ts';
import { selfSubjectRulesReview } from './virtual-kinds/rules-review.ts';
import { defaultTokenRequest, tokenRequest } from './virtual-kinds/token-request.ts';
import { selfSubjectReview, tokenReview } from './virtual-kinds/token-reviews.ts';
import { serveTokenRequests, serveVirtualKinds } from './virtual-kinds/virtual-kinds.ts';

/** AccessControlOptions configures the users that a server accepts and where it stores their rights. */
export interface AccessControlOptions {
  readonly storage: Storage;
  /** Must already hold the built-in kinds. */
  readonly registry: Registry;
  readonly fields: FieldTracking;
  readonly clock: Clock;
  /** Defaults to the system's random source. */
  readonly random?: Random | undefined;
  /** The private key, in PEM, that signs ServiceAccount tokens: RSA or P-256. */
  readonly tokenKey: string;
  /** Public keys, in PEM, whose tokens are still accepted. Defaults to none. */
  readonly olderTokenKeys?: readonly string[] | undefined;
  /** The issuer of tokens. Defaults to `https://kubernetes.default.svc`. */
  readonly issuer?: string | undefined;
  /** Tokens that stay valid as long as the server runs. Defaults to none. */
  readonly tokens?: readonly StaticToken[] | undefined;
  /** url returns the address of the server; other servers fetch the keys that verify tokens there. */
  readonly url: () => string;
  /** Receives errors that are bugs and belong to no request. */
  readonly onError: (error: unknown) => void;
}

/**
 * AccessControl holds authentication and authorization as parts of an API server. Disposing of it stops the updates of
 * aggregated roles and of its index.
 */
export interface AccessControl extends Disposable {
  readonly authenticator: TokenAuthenticator;
  readonly authorizer: Authorizer;
  /** Prevents users from granting rights that they do not hold. */
  readonly admission: AdmissionPlugin;
  readonly route: Route;
}

/**
 * createAccessControl creates the parts that guard a server: it writes the bootstrap roles of every cluster, maintains
 * aggregated roles, and serves tokens and reviews.
 */
export function createAccessControl(options: AccessControlOptions): AccessControl {
  const { storage, registry, fields, clock, random = systemRandom, issuer, tokens, url, onError } = options;
  const clusterRoles = registry.find(RBAC_GROUP, 'v1', 'clusterroles');
  if (!clusterRoles) throw new TypeError('the registry does not contain the built-in resource clusterroles');
  const serviceAccounts = new ServiceAccountTokens({
    storage,
    clock,
    key: jwtKey(options.tokenKey),
    olderKeys: options.olderTokenKeys?.map(jwtKey),
    issuer,
  });
  const authenticator = createAuthenticator({ serviceAccounts, tokens });
  ensureBootstrapPolicy({ storage, registry, fields, clock, random });
  const aggregation = aggregateClusterRoles({ storage, clock, fields, resource: clusterRoles, onError });
  const index = new RbacIndex(storage);
  const authorizer = new RbacAuthorizer(index);
  serveTokenRequests(registry, tokenRequest(storage, serviceAccounts), defaultTokenRequest);
  serveVirtualKinds(registry, {
    'authentication.k8s.io': { tokenreviews: tokenReview(authenticator), selfsubjectreviews: selfSubjectReview },
    'authorization.k8s.io': {
      subjectaccessreviews: subjectAccessReview(authorizer),
      localsubjectaccessreviews: localSubjectAccessReview(authorizer),
      selfsubjectaccessreviews: selfSubjectAccessReview(authorizer),
      selfsubjectrulesreviews: selfSubjectRulesReview(authorizer),
    },
  });
  return {
    authenticator,
    authorizer,
    admission: refuseEscalation(authorizer, index),
    route: openIdRoute(serviceAccounts, url),
    [Symbol.dispose]() {
      aggregation[Symbol.dispose]();
      index[Symbol.dispose]();
    },
  };
}
