import { defineOperator } from '@bowline/runtime';
import { authorityPermissions, CertificateAuthority } from '@bowline/runtime/certificates';
import { type LinkDeps, servers } from './controller.ts';

const id = { name: 'links', domain: 'example.com' };
const AUTHORITY_SECRET = 'links-mtls';

/** links is an operator whose manager and servers authenticate each other. */
export const links = defineOperator<LinkDeps>({
  ...id,
  controllers: [servers],
  permissions: authorityPermissions(AUTHORITY_SECRET),
  setup: ({ namespace, clock, random, log, metrics }) => ({
    authority: new CertificateAuthority({
      operator: id,
      secret: { namespace, name: AUTHORITY_SECRET },
      certificate: { names: ['manager.links'], usages: ['client'] },
      ...{ clock, random, log, metrics },
    }),
  }),
  services: [{ name: 'authority', run: (signal, { authority }, { client }) => authority.run(signal, client) }],
});
