import { s } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { defineOperator } from './operator.ts';
import { withConfig } from './with-config.ts';

const run = async (): Promise<void> => {};

describe('the port of a service', () => {
  it('follows from the configuration', async () => {
    const operator = defineOperator({
      name: 'shop',
      domain: 'example.com',
      config: s.object({ port: s.integer().default(8443) }),
      services: [
        { name: 'receiver', port: ({ port }) => port, run },
        { name: 'poller', run },
      ],
    });
    const portsWith = async (port?: number) =>
      (await withConfig(operator, { port })).services.map((service) => service.port);
    expect(await portsWith()).toEqual([8443, undefined]);
    expect(await portsWith(0)).toEqual([undefined, undefined]);
    await expect(portsWith(70_000)).rejects.toMatchObject({
      code: 'BOWLINE_CONFIG_INVALID',
      message: expect.stringContaining('its service receiver would listen on the port 70000'),
    });
  });

  it.each([
    ['shop', 'webhook', 8443, /"webhook" cannot have a port, because shop-webhook is the Service of its webhooks/],
    ['shop', 'a'.repeat(60), 8443, /cannot be the name of a Service/],
    ['1shop', 'api', 8443, /must start with a letter/],
    ['shop', 'api', 0, /has the port 0; use a whole number from 1 to 65535/],
  ])('is refused for the operator %s and the service %s with port %i', (name, service, port, message) => {
    expect(() => defineOperator({ name, domain: 'example.com', services: [{ name: service, port, run }] })).toThrow(
      message,
    );
  });
});
