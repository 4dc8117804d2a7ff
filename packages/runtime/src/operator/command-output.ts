/** CommandColumn is a column of the table that a command prints. */
export interface CommandColumn<in Row> {
  /** The heading. It is printed in capitals. */
  readonly name: string;
  /**
   * value returns the cell of a row. Undefined is an empty cell; a column that is undefined in every row is omitted, for
   * example a column of values that a flag enables.
   */
  readonly value: (row: Row) => string | number | boolean | undefined;
}

/**
 * CommandOutput declares that a command returns data: one object or a list of them. The program prints it: as a table,
 * or as JSON or YAML with `-o`.
 */
export interface CommandOutput<in Row> {
  /** The columns of the table. JSON and YAML contain everything that the command returns. */
  readonly columns: readonly CommandColumn<Row>[];
  /** Printed on standard error instead of a table without rows. Defaults to `Nothing found.` */
  readonly empty?: string | undefined;
  /**
   * Whether the data are Kubernetes objects, which are printed as manifests for `kubectl apply`: as YAML documents, which
   * is then the default format, or as a List in JSON. Defaults to false.
   */
  readonly manifests?: boolean | undefined;
  /**
   * failure returns the error with which the command ends after its data is printed, for example of a check that found
   * problems; undefined if there is none. Defaults to none.
   */
  readonly failure?: ((rows: readonly Row[]) => Error | undefined) | undefined;
}
