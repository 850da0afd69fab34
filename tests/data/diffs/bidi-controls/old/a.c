if (user == "admin") {
