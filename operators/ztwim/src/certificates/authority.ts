import type { SetupContext } from '@bowline/runtime';
import { CertificateAuthority } from '@bowline/runtime/certificates';
import type { Config } from '../config.ts';

/** AUTHORITY_SECRET holds the CA of serving certificates, in the namespace of the manager. */
export const AUTHORITY_SECRET = 'ztwim-serving-ca';

/** OPERATOR is the identity of the operator. */
export const OPERATOR = { name: 'ztwim', domain: 'bowline.dev' } as const;

/** createAuthority returns the CA of serving certificates, for clusters whose platform issues none. */
export function createAuthority({
  namespace,
  clock,
  random,
  log,
  metrics,
}: SetupContext<Config>): CertificateAuthority {
  return new CertificateAuthority({
    operator: OPERATOR,
    secret: { namespace, name: AUTHORITY_SECRET },
    // Nothing uses this certificate; a CA always comes with one.
    certificate: { names: [`${OPERATOR.name}.${OPERATOR.domain}`], usages: ['client'] },
    ...{ clock, random, log, metrics },
  });
}
