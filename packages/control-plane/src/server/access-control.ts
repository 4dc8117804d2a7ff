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
import { serveComputedKinds, serveTokenRequests } from './virtual-kinds/virtual-kinds.ts';

/** AccessControlOptions says whom a server knows, and where it keeps what they may do. */
export interface AccessControlOptions {
  readonly storage: Storage;
  /** Must have the built-in kinds already. */
  readonly registry: Registry;
  readonly fields: FieldTracking;
  readonly clock: Clock;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** The private key that signs tokens of ServiceAccounts, in PEM: RSA or P-256. */
  readonly tokenKey: string;
  /** Public keys, in PEM, whose tokens are still good. Defaults to none. */
  readonly olderTokenKeys?: readonly string[] | undefined;
  /** Who says in tokens that they are good. Defaults to `https://kubernetes.default.svc`. */
  readonly issuer?: string | undefined;
  /** Tokens that stay the same as long as the server runs. Defaults to none. */
  readonly tokens?: readonly StaticToken[] | undefined;
  /** url is where the server is found; others ask there for the keys of tokens. */
  readonly url: () => string;
  /** Told of errors that are bugs and belong to no request. */
  readonly onError: (error: unknown) => void;
}

/** AccessControl is who somebody is and what they may do, as parts of an API server. Disposing of it stops what it keeps fresh. */
export interface AccessControl extends Disposable {
  readonly authenticator: TokenAuthenticator;
  readonly authorizer: Authorizer;
  /** Keeps people from giving away rights that they do not hold. */
  readonly admission: AdmissionPlugin;
  readonly route: Route;
}

/**
 * createAccessControl makes the parts that guard a server: it writes the roles that every cluster has, keeps aggregated ones,
 * and serves tokens and reviews.
 */
export function createAccessControl(options: AccessControlOptions): AccessControl {
  const { storage, registry, fields, clock, random = systemRandom, issuer, tokens, url, onError } = options;
  const clusterRoles = registry.find(RBAC_GROUP, 'v1', 'clusterroles');
  if (!clusterRoles) throw new TypeError('there are no roles among the built-in kinds yet');
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
  serveComputedKinds(registry, {
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
