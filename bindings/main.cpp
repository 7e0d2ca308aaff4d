#include "bindings/cli.hpp"

int main(int argc, char** argv) { return erx::run_command(argc, argv); }
