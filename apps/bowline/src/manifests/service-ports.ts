import { BowlineError, type Operator } from '@bowline/runtime';

/** ServicePort is a port that a service of an operator declares. */
export interface ServicePort {
  readonly operator: string;
  readonly service: string;
  readonly port: number;
}

/** servicePorts returns the ports of the services of configured operators. */
export function servicePorts(operators: readonly Operator[]): readonly ServicePort[] {
  return operators.flatMap(({ name: operator, services }) =>
    services.flatMap(({ name: service, port }) => (typeof port === 'number' ? [{ operator, service, port }] : [])),
  );
}

/**
 * refuseSharedPorts throws BOWLINE_INSTALL_INVALID if a service needs a port that another service, or the manager, uses
 * in the same container. `used` holds the ports of the manager, by purpose.
 */
export function refuseSharedPorts(ports: readonly ServicePort[], used: readonly (readonly [string, number])[]): void {
  const users = new Map(
    used.map(([purpose, port]) => [port, `the ${purpose} address of the manager: configure another`]),
  );
  for (const { operator, service, port } of ports) {
    const other = users.get(port);
    if (other !== undefined) {
      throw new BowlineError(
        'BOWLINE_INSTALL_INVALID',
        `the service ${service} of ${operator} listens on port ${port}, which is also that of ${other}`,
      );
    }
    users.set(
      port,
      `the service ${service} of ${operator}: configure another, or create one Deployment for each operator with --per-operator`,
    );
  }
}
