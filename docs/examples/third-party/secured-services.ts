import { Service } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { Certificate } from './certificates.ts';

const SECURED = 'example.com/secured';

/** securedServices requests a Certificate for every Service with the label `example.com/secured: "true"`. */
export const securedServices = defineOperator({
  name: 'secured-services',
  domain: 'example.com',
  controllers: [
    controller(Service, { name: 'secured-services', labelSelector: `${SECURED}=true` })
      .owns(Certificate)
      .reconcile(async ({ key, apply, event }) => {
        const { outcome } = await apply(Certificate, {
          metadata: key,
          spec: {
            secretName: `${key.name}-tls`,
            dnsNames: [`${key.name}.${key.namespace}.svc`],
            issuerRef: { name: 'in-cluster' },
          },
        });
        if (outcome !== 'unchanged') event('Normal', 'Requested', `requested the Certificate ${key.name}`);
      }),
  ],
});
