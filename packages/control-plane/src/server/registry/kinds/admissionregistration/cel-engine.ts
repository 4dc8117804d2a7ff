type CelEngine = typeof import('@bowline/machinery/cel');

let engine: CelEngine | undefined;

/** loadCelEngine loads the CEL engine on demand: it is large, and few objects have expressions. */
export async function loadCelEngine(): Promise<void> {
  engine ??= await import('@bowline/machinery/cel');
}

/** celEngine returns the engine; it must be loaded. */
export function celEngine(): CelEngine {
  if (!engine) throw new TypeError('the CEL engine is not loaded');
  return engine;
}
