// SPDX-License-Identifier: BSD-3-Clause

// The libraries from C++: cuts each link of a 4x4 torus in turn, has the tables
// computed again, and lets the checker judge them.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rl_check.h"
#include "rl_route.h"

namespace {

class Torus {
public:
	explicit Torus(uint16_t radix)
	{
		rl_topo_spec spec;
		char err[RL_ERR_MAX];

		rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
		spec.ndims = 2;
		spec.dims[0] = spec.dims[1] = radix;
		if (rl_topo_build(&spec, &topo_, err, nullptr) != 0)
			throw std::runtime_error(err);
	}
	~Torus() { rl_topo_free(&topo_); }
	Torus(const Torus &) = delete;
	Torus &operator=(const Torus &) = delete;

	// Links between switches.
	std::vector<std::string> links() const
	{
		std::vector<std::string> names;

		for (uint32_t i = 0; i < topo_.nlink; i++) {
			char name[2 * RL_NAME_MAX + 16];

			rl_topo_link_name(&topo_, i, name, sizeof(name));
			if (name[0] == 's')
				names.push_back(name);
		}
		return names;
	}

	void fail(const std::string &part)
	{
		char err[RL_ERR_MAX];

		if (rl_topo_fail(&topo_, part.c_str(), err) != 0)
			throw std::runtime_error(err);
	}

	// The longest path of tables that the checker accepts.
	unsigned int longest_path() const
	{
		rl_route *tables = nullptr;
		char err[RL_ERR_MAX];

		if (rl_route_compute(&topo_, nullptr, RL_VCS, &tables, err) != 0)
			throw std::runtime_error(err);
		std::unique_ptr<rl_route, decltype(&rl_route_free)> keep(
			tables, rl_route_free);
		std::unique_ptr<rl_check_report> rep(new rl_check_report());
		rl_check_in in = rl_check_in();

		in.topo = &topo_;
		in.fwd = tables->fwd;
		if (rl_check(&in, rep.get()) != 0 || rep->reachable != rep->pairs)
			throw std::runtime_error("the tables are wrong");
		return rep->max_hops;
	}

private:
	rl_topo topo_ = rl_topo();
};

} // namespace

int
main()
try {
	const unsigned int whole = Torus(4).longest_path();
	unsigned int most = 0, cuts = 0;

	for (const std::string &link : Torus(4).links()) {
		Torus torus(4);

		torus.fail(link);
		most = std::max(most, torus.longest_path());
		cuts++;
	}
	std::printf("longest path %u; with one of %u links cut, at most %u\n",
		    whole, cuts, most);
	return cuts == 32 ? 0 : 1;
} catch (const std::exception &why) {
	std::fprintf(stderr, "torus: %s\n", why.what());
	return 1;
}
