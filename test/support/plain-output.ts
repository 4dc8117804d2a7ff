// Programs started by tests print without colours, even if the user of the tests has enabled them.
delete process.env.FORCE_COLOR;
process.env.NO_COLOR = '1';
