// Programs that tests start print as to a pipe, also where whoever runs the tests wishes for colours.
delete process.env.FORCE_COLOR;
process.env.NO_COLOR = '1';
